"""The choice of a method on the classes there are, and what to expect of it."""

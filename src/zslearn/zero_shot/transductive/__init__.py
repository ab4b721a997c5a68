"""Methods that look at the whole test batch."""

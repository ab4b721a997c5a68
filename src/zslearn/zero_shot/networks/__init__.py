"""Small networks with hand-written gradients."""

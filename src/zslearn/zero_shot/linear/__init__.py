"""Linear maps in closed form: SAE, ridge in both directions, ESZSL."""

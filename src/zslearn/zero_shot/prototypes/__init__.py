"""Methods that predict class means or densities from signatures."""

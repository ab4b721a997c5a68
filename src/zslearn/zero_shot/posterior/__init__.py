"""Methods that carry posteriors of seen classes or attributes over to the candidates."""

"""Methods that synthesize samples of unseen classes and train an ordinary classifier on them."""

"""The paper's model on plain matrices."""

from zslearn.autoencoder.semantic_autoencoder import SemanticAutoencoder, SemanticAutoencoderCV

__all__ = ["SemanticAutoencoder", "SemanticAutoencoderCV"]

"""The paper's model on plain matrices."""

from zslearn.autoencoder.semantic_autoencoder import SemanticAutoencoder
from zslearn.autoencoder.semantic_autoencoder_cv import SemanticAutoencoderCV

__all__ = ["SemanticAutoencoder", "SemanticAutoencoderCV"]

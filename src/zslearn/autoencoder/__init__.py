"""The paper's model on plain matrices."""

from zslearn.autoencoder._semantic_autoencoder import SemanticAutoencoder
from zslearn.autoencoder._semantic_autoencoder_cv import SemanticAutoencoderCV

__all__ = ["SemanticAutoencoder", "SemanticAutoencoderCV"]

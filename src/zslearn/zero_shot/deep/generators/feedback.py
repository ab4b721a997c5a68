"""The variational game with a decoder of signatures that corrects the generator."""

from __future__ import annotations

import torch
from numpy.typing import NDArray
from torch.nn.functional import normalize

from zslearn.zero_shot.deep.generators.adversarial import VariationalGame, descend
from zslearn.zero_shot.deep.generators.networks import hidden, normal, output, start
from zslearn.zero_shot.deep.generators.objectives import SLOPE, leaky, weighted_l1
from zslearn.zero_shot.deep.weights import to_arrays

# Learning rate of the feedback in units of the others', as released for CUB.
SLOWER = 0.1


class FeedbackGame(VariationalGame):
    """The game with a decoder of signatures and feedback from it (TF-VAEGAN).

    The decoder finds the signature of a sample, â = φ(x A + b) B + c scaled to unit length. It
    learns from real samples and from the generator's, and its loss teaches the generator too.
    Every second step is played with feedback: a first pass of the generator is decoded, and the
    hidden layer h of the decoder changes that of the generator by ``feedback · F(h)`` in a second
    pass, F with two leaky layers. No gradient goes through h, hence none through the first pass.

    Parameters are those of `WassersteinGame`; signatures are scaled to unit length where the
    decoder's are compared with them.
    """

    def begin(self, d: int, k: int, h: int, device: torch.device) -> None:
        """Start the networks, decoder and feedback too; the first step is without feedback."""
        super().begin(d, k, h, device)
        self.decoder = start("decoder", (d, h, k), normal, device)
        self.feedback = start("feedback", (h, h, h), normal, device)
        self.for_generator = self.adam(self.generator, self.encoder, self.decoder)
        self.for_generator.add_param_group(
            {"params": list(self.feedback.values()), "lr": SLOWER * self.rules.learning_rate}
        )
        self.for_decoder = self.adam(self.decoder)
        self.with_feedback = False

    def step(self, rows: torch.Tensor) -> torch.Tensor:
        """Take a step of all, the first without feedback, then in turn."""
        loss = super().step(rows)
        self.with_feedback = not self.with_feedback
        return loss

    def critic_step(self, rows: torch.Tensor) -> torch.Tensor:
        """Take one step of the critic, and one of the decoder on the same samples."""
        loss = super().critic_step(rows)
        descend(self.for_decoder, self.decoder_loss(self.X[rows], self.S[self.y[rows]]))
        return loss

    def generator_step(self, rows: torch.Tensor) -> None:
        """Take one step of everything but the critic."""
        descend(self.for_generator, self.whole_loss(rows))

    def whole_loss(self, rows: torch.Tensor) -> torch.Tensor:
        """Return what generator, encoder, decoder and feedback minimize on a batch."""
        X, A = self.X[rows], self.S[self.y[rows]]
        fake = self.generated(self.noise(A), A)
        loss = self.decoder_loss(fake, A) - self.rules.adversarial * self.judged(fake, A)
        return loss + self.variational_loss(X, A)

    def decoder_loss(self, X: torch.Tensor, A: torch.Tensor) -> torch.Tensor:
        """Return the weighted error of decoded signatures."""
        found = output(self.decoder, "decoder", self.noticed(X))
        return self.rules.decoding * weighted_l1(normalize(found), normalize(A))

    def noticed(self, X: torch.Tensor) -> torch.Tensor:
        """Return the hidden layer of the decoder."""
        return hidden(self.decoder, "decoder", X, SLOPE)

    def logits(self, Z: torch.Tensor, A: torch.Tensor) -> torch.Tensor:
        """Return the generator before its last nonlinearity, after one pass or two."""
        H = hidden(self.generator, "generator", torch.cat([Z, A], dim=1), SLOPE)
        if self.with_feedback:
            with torch.no_grad():
                noticed = self.noticed(torch.sigmoid(output(self.generator, "generator", H)))
            G = hidden(self.feedback, "feedback", noticed, SLOPE)
            H = H + self.rules.feedback * leaky(output(self.feedback, "feedback", G))
        return output(self.generator, "generator", H)

    def arrays(self) -> dict[str, NDArray]:
        """Return generator, decoder and feedback."""
        return to_arrays(self.generator | self.decoder | self.feedback)

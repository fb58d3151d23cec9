"""The block of a network that tinygrad's tests of capture want, which its source distribution leaves out."""

from tinygrad import nn


class ResBlock:
    """Two convolutions with an embedding added between them, around which the input goes, too."""

    def __init__(self, channels, embedding, out):
        self.first = nn.GroupNorm(4, channels), nn.Conv2d(channels, out, 3, padding=1)
        self.embedding = nn.Linear(embedding, out)
        self.second = nn.GroupNorm(4, out), nn.Conv2d(out, out, 3, padding=1)
        self.around = nn.Conv2d(channels, out, 1)

    def __call__(self, x, embedding):
        norm, convolution = self.first
        y = convolution(norm(x).silu())
        y = y + self.embedding(embedding.silu())[:, :, None, None]
        norm, convolution = self.second
        return self.around(x) + convolution(norm(y).silu())

"""What to cite for each published data set."""

from __future__ import annotations

AWA = """\
C. H. Lampert, H. Nickisch, S. Harmeling. Learning to detect unseen object classes by \
between-class attribute transfer. CVPR 2009."""
XLSA17 = """\
Y. Xian, C. H. Lampert, B. Schiele, Z. Akata. Zero-shot learning: a comprehensive evaluation of \
the good, the bad and the ugly. IEEE TPAMI 41(9), 2019."""
SAE = """\
E. Kodirov, T. Xiang, S. Gong. Semantic autoencoder for zero-shot learning. CVPR 2017."""
IMAGENET = """\
O. Russakovsky et al. ImageNet large scale visual recognition challenge. IJCV 115(3), 2015.
Y. Fu, L. Sigal. Semi-supervised vocabulary-informed learning. CVPR 2016 (the 1000/360 split)."""

_OF_FOLDER = {
    "AWA": AWA,
    "CUB": "C. Wah, S. Branson, P. Welinder, P. Perona, S. Belongie. The Caltech-UCSD "
    "Birds-200-2011 dataset. Technical report CNS-TR-2011-001, Caltech, 2011.",
    "SUN": "G. Patterson, J. Hays. SUN attribute database: discovering, annotating, and "
    "recognizing scene attributes. CVPR 2012.",
    "APY": "A. Farhadi, I. Endres, D. Hoiem, D. Forsyth. Describing objects by their attributes. "
    "CVPR 2009.",
    "FLO": "M.-E. Nilsback, A. Zisserman. Automated flower classification over a large number of "
    "classes. ICVGIP 2008.",
}


def xlsa17_citation(folder: str) -> str:
    """Return the benchmark's paper, with the data set's own if the folder name identifies it."""
    own = [text for start, text in _OF_FOLDER.items() if folder.upper().startswith(start)]
    return "\n".join([*own, XLSA17])

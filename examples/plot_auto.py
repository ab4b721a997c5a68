"""Which method for my data? Three kinds of data, three winners, and what to expect of each.

    python examples/plot_auto.py [FILE.png]

`AutoZeroShotClassifier` judges a small portfolio on held-out seen classes of three synthetic
families: attributes that shift features, attributes in the spread of features, and attributes in
products of features. Bars show accuracies on held-out classes, the band what to expect on unseen
classes, and the diamond what was really reached there. Needs matplotlib
(``pip install 'zslearn[plot]'``).
"""

from __future__ import annotations

import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from zslearn.datasets import make_family
from zslearn.zero_shot import AutoZeroShotClassifier

FAMILIES = {
    "linear": "attributes shift features",
    "spread": "attributes in the spread",
    "product": "attributes in products",
}
PORTFOLIO = [
    "rrzsl",
    "eszsl",
    "standardize > dap + naive-bayes",
    "standardize > dap + quadratic",
]


def main() -> None:
    target = sys.argv[1] if len(sys.argv) > 1 else "auto.png"
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), sharey=True, layout="constrained")
    for ax, (name, title) in zip(axes, FAMILIES.items(), strict=True):
        data = make_family(name, random_state=0)
        split = data.split("standard")
        seen, unseen = data.train_rows(split), data.test_rows(split)
        clf = AutoZeroShotClassifier(data.signatures, portfolio=PORTFOLIO)
        clf.fit(data.X[seen], data.y[seen])
        reached = clf.score(data.X[unseen], data.y[unseen], candidates="unseen")
        expected = clf.expected_accuracy_
        print(f"{name:<8} takes {clf.member_}; expected {expected}; reached {reached:.2f}")
        found = dict(zip(clf.leaderboard_["member"], clf.leaderboard_["accuracy"], strict=True))
        colors = ["#009E73" if member == clf.member_ else "#BBBBBB" for member in PORTFOLIO]
        ax.barh(PORTFOLIO, [found[member] or 0.0 for member in PORTFOLIO], color=colors)
        row = PORTFOLIO.index(clf.member_)
        band = (expected.high - expected.low, 0.3)
        ax.broken_barh(
            [(expected.low, band[0])], (row - 0.15, 0.3), color="#0072B2", alpha=0.5,
            label="expected on unseen classes",
        )
        ax.plot([reached], [row], "D", color="#D55E00", label="reached there")
        ax.axvline(expected.chance, color="black", ls="--", lw=1, label="chance")
        ax.set(title=title, xlim=(0, 1.05), xlabel="accuracy")
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3,
                  frameon=False)
    figure.savefig(target, dpi=120)
    print(f"wrote {target}")


if __name__ == "__main__":
    main()

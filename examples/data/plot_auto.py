"""
Which method for my data?
=========================

`AutoZeroShotClassifier` judges a small portfolio on held-out seen classes of three kinds of data:
attributes that shift features, attributes in the spread of features, and attributes in products of
features. Each gets another method.
"""

# %%
# Bars are accuracies on held-out seen classes, the one in green is taken. The band is what to
# expect on unseen classes, and the diamond what was really reached there.

import matplotlib.pyplot as plt

from zslearn.datasets import make_family
from zslearn.zero_shot import AutoZeroShotClassifier

families = {
    "linear": "attributes shift features",
    "spread": "attributes in the spread",
    "product": "attributes in products",
}
portfolio = [
    "eszsl",
    "prototype-regression",
    "standardize > dap + naive-bayes",
    "nystroem > prototype-regression",
]
figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), sharey=True, layout="constrained")
for ax, (name, title) in zip(axes, families.items(), strict=True):
    data = make_family(name, random_state=0)
    split = data.split("standard")
    seen, unseen = data.train_rows(split), data.test_rows(split)
    clf = AutoZeroShotClassifier(data.signatures, portfolio=portfolio)
    clf.fit(data.X[seen], data.y[seen])
    reached = clf.score(data.X[unseen], data.y[unseen], candidates="unseen")
    expected, taken = clf.expected_accuracy_, clf.member_
    print(f"{name:<8} takes {taken}; expected {expected}; reached {reached:.2f}")
    board = list(zip(clf.leaderboard_["member"], clf.leaderboard_["accuracy"], strict=True))
    heights = [accuracy for one in portfolio for member, accuracy in board if member == one]
    row = portfolio.index(taken)
    colors = ["#009E73" if i == row else "#BBBBBB" for i in range(len(portfolio))]
    ax.barh(portfolio, heights, color=colors)
    width = expected.high - expected.low
    ax.broken_barh(
        [(expected.low, width)],
        (row - 0.15, 0.3),
        color="#0072B2",
        alpha=0.5,
        label="expected on unseen classes",
    )
    ax.plot([reached], [row], "D", color="#D55E00", label="reached there")
    ax.axvline(expected.chance, color="black", ls="--", lw=1, label="chance")
    ax.set(title=title, xlim=(0, 1.05), xlabel="accuracy")
axes[0].invert_yaxis()
handles, labels = axes[0].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
plt.show()

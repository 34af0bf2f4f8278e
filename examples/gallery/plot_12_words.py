"""
Text: words that separate topics
================================

A tf-idf matrix is sparse and has more columns than rows. labelens keeps it sparse. Components are
directions over words, so their weights show which words separate the topics.

The documents are the docstrings of scikit-learn.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.utils.discovery import all_estimators

from labelens import SupervisedPCA, knn_score, plot

# %%
# Paragraphs of at least forty words, labelled by their module.
topics = ("cluster", "decomposition", "ensemble", "linear_model", "neighbors", "preprocessing")
documents, labels = [], []
for _, estimator in all_estimators():
    topic = estimator.__module__.split(".")[1]
    for paragraph in (estimator.__doc__ or "").split("\n\n") if topic in topics else ():
        if len(paragraph.split()) >= 40:
            documents.append(paragraph)
            labels.append(topic)
y = np.array(labels)
words = TfidfVectorizer(
    stop_words="english", sublinear_tf=True, token_pattern=r"[a-z]{3,}", min_df=3
)
X = words.fit_transform(documents)
print(
    f"{X.shape[0]} paragraphs, {X.shape[1]} words, {X.nnz / np.prod(X.shape):.1%} of X is not zero"
)

X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
model = SupervisedPCA(n_components=5, shrinkage=0.3).fit(X_train, y_train)
Z_train, Z_test = model.transform(X_train), model.transform(X_test)
score = knn_score(Z_train, y_train, Z_test, y_test)

# %%
# Left: held-out paragraphs in the first two of five components. Right: the words with the largest
# positive and negative weights.
figure, axes = plt.subplots(1, 2, figsize=(13, 5.2), width_ratios=(1.25, 1))
plot.scatter(Z_test, y_test, ax=axes[0])
axes[0].set_title(f"{len(y_test)} held-out paragraphs (1-NN in five components: {score:.0%})")
names = words.get_feature_names_out()
for component, (place, colour) in enumerate(((0.02, "#0072B2"), (0.52, "#D55E00"))):
    weights = model.components_[component]
    order = np.argsort(weights)
    axes[1].text(place, 1.0, f"component {component + 1}", weight="bold", color=colour, va="top")
    for end, line in ((order[::-1][:9], 0.92), (order[:9], 0.42)):
        text = "\n".join(f"{weights[word]:+.2f}  {names[word]}" for word in end)
        axes[1].text(place, line, text, va="top", family="monospace", linespacing=1.25)
axes[1].axis("off")
plt.show()

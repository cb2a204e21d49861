"""Metrics: numbers gathered over batches."""

from scull.metric.metric import Accuracy, Auc, Metric, Precision, Recall
from scull.static.metric import accuracy

__all__ = ["Metric", "Accuracy", "Precision", "Recall", "Auc", "accuracy"]

"""Metrics: numbers gathered over batches."""

from scull.metric.metric import Accuracy, Auc, Metric, Precision, Recall

__all__ = ["Metric", "Accuracy", "Precision", "Recall", "Auc"]

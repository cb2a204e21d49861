"""Data sets of images, from files that are there: nothing is downloaded."""

from scull.vision.datasets.cifar import Cifar10, Cifar100
from scull.vision.datasets.flowers import Flowers
from scull.vision.datasets.folder import DatasetFolder, ImageFolder
from scull.vision.datasets.mnist import MNIST, FashionMNIST
from scull.vision.datasets.voc2012 import VOC2012

__all__ = [
    "Cifar10",
    "Cifar100",
    "DatasetFolder",
    "FashionMNIST",
    "Flowers",
    "ImageFolder",
    "MNIST",
    "VOC2012",
]

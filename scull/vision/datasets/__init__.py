"""Data sets of images, from files that are there: nothing is downloaded."""

from scull.core.absent import absent
from scull.vision.datasets.cifar import Cifar10, Cifar100
from scull.vision.datasets.folder import DatasetFolder, ImageFolder
from scull.vision.datasets.mnist import MNIST, FashionMNIST

__getattr__ = absent(
    __name__, {"its files are not read; a folder of images is a DatasetFolder": "Flowers VOC2012"}
)

__all__ = ["Cifar10", "Cifar100", "DatasetFolder", "FashionMNIST", "ImageFolder", "MNIST"]

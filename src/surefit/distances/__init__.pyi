# Written by `make stubs`; do not edit.

from surefit.distances.angles import Correlation as Correlation
from surefit.distances.angles import Cosine as Cosine
from surefit.distances.angles import Haversine as Haversine
from surefit.distances.base import Distance as Distance
from surefit.distances.base import Native as Native
from surefit.distances.conversion import as_distance as as_distance
from surefit.distances.edit_distance import EditDistance as EditDistance
from surefit.distances.given import FromFunction as FromFunction
from surefit.distances.given import KernelDistance as KernelDistance
from surefit.distances.given import Precomputed as Precomputed
from surefit.distances.gower import Gower as Gower
from surefit.distances.hamming import Dice as Dice
from surefit.distances.hamming import Hamming as Hamming
from surefit.distances.hamming import Jaccard as Jaccard
from surefit.distances.hamming import RogersTanimoto as RogersTanimoto
from surefit.distances.hamming import RussellRao as RussellRao
from surefit.distances.hamming import SokalSneath as SokalSneath
from surefit.distances.hamming import Yule as Yule
from surefit.distances.mahalanobis import Mahalanobis as Mahalanobis
from surefit.distances.minkowski import Chebyshev as Chebyshev
from surefit.distances.minkowski import Euclidean as Euclidean
from surefit.distances.minkowski import Manhattan as Manhattan
from surefit.distances.minkowski import Minkowski as Minkowski
from surefit.distances.minkowski import SquaredEuclidean as SquaredEuclidean
from surefit.distances.minkowski import StandardizedEuclidean as StandardizedEuclidean
from surefit.distances.proportions import BrayCurtis as BrayCurtis
from surefit.distances.proportions import Canberra as Canberra
from surefit.distances.proportions import NanEuclidean as NanEuclidean

def __dir__() -> list[str]: ...

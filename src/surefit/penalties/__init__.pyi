# Written by `make stubs`; do not edit.

from surefit.penalties.affine_subspace import AffineSubspace as AffineSubspace
from surefit.penalties.base import Penalty as Penalty
from surefit.penalties.box import Box as Box
from surefit.penalties.elastic_net import ElasticNet as ElasticNet
from surefit.penalties.group_l1 import GroupL1 as GroupL1
from surefit.penalties.group_l1_within import GroupL1Within as GroupL1Within
from surefit.penalties.half_space import HalfSpace as HalfSpace
from surefit.penalties.intersection import Intersection as Intersection
from surefit.penalties.l0 import L0 as L0
from surefit.penalties.l1 import L1 as L1
from surefit.penalties.l1_ball import L1Ball as L1Ball
from surefit.penalties.l2 import L2 as L2
from surefit.penalties.l2_ball import L2Ball as L2Ball
from surefit.penalties.mcp import MCP as MCP
from surefit.penalties.monotone import Monotone as Monotone
from surefit.penalties.no_penalty import NoPenalty as NoPenalty
from surefit.penalties.nonnegative import NonNegative as NonNegative
from surefit.penalties.ordered import Ordered as Ordered
from surefit.penalties.positive_semidefinite import PositiveSemidefinite as PositiveSemidefinite
from surefit.penalties.restricted import Restricted as Restricted
from surefit.penalties.scad import SCAD as SCAD
from surefit.penalties.simplex import Simplex as Simplex
from surefit.penalties.smooth_l1 import SmoothL1 as SmoothL1
from surefit.penalties.tikhonov import Tikhonov as Tikhonov

def __dir__() -> list[str]: ...

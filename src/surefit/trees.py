"""Trees beyond the estimators: other shapes of trees, how stable one is, imitations of a model, impurities.

>>> from surefit import trees
>>> trees.multiway_tree([["sun"], ["rain"], ["snow"]], ["out", "in", "out"]).predict([["rain"]]).tolist()
['in']
"""

from surefit.models.tree.explain.class_impurity import impurity as impurity
from surefit.models.tree.explain.class_impurity import impurity_decrease as impurity_decrease
from surefit.models.tree.explain.mimic import Mimic as Mimic
from surefit.models.tree.explain.mimic import mimic as mimic
from surefit.models.tree.explain.optimal import DepthTwo as DepthTwo
from surefit.models.tree.explain.optimal import depth_two_gap as depth_two_gap
from surefit.models.tree.explain.stability import Stability as Stability
from surefit.models.tree.explain.stability import stability as stability
from surefit.models.tree.trees.model_tree import ModelTree as ModelTree
from surefit.models.tree.trees.model_tree import ObliqueTree as ObliqueTree
from surefit.models.tree.trees.model_tree import model_tree as model_tree
from surefit.models.tree.trees.model_tree import oblique_tree as oblique_tree
from surefit.models.tree.trees.multiway import MultiwayTree as MultiwayTree
from surefit.models.tree.trees.multiway import multiway_tree as multiway_tree

# Written by `make stubs`; do not edit.

from surefit.plots.base import save as save
from surefit.plots.base import to_html as to_html
from surefit.plots.base import to_png as to_png
from surefit.plots.base import to_svg as to_svg
from surefit.plots.clusters import plot_cluster_choice as plot_cluster_choice
from surefit.plots.clusters import plot_k_distances as plot_k_distances
from surefit.plots.clusters import plot_voronoi as plot_voronoi
from surefit.plots.component_count import plot_component_count as plot_component_count
from surefit.plots.cube_edges import plot_cube_edges as plot_cube_edges
from surefit.plots.dendrogram import plot_dendrogram as plot_dendrogram
from surefit.plots.dependence import plot_answers as plot_answers
from surefit.plots.dependence import plot_dependence as plot_dependence
from surefit.plots.importance import plot_importance as plot_importance
from surefit.plots.importance import plot_worths as plot_worths
from surefit.plots.landscape import plot_landscape as plot_landscape
from surefit.plots.limits import plot_running_means as plot_running_means
from surefit.plots.limits import plot_standardised_sums as plot_standardised_sums
from surefit.plots.margin import plot_margin as plot_margin
from surefit.plots.mixture import plot_mixture as plot_mixture
from surefit.plots.path import plot_choice as plot_choice
from surefit.plots.path import plot_path as plot_path
from surefit.plots.scores.bias_variance import plot_bias_variance as plot_bias_variance
from surefit.plots.scores.calibration import plot_calibration as plot_calibration
from surefit.plots.scores.comparison import plot_comparison as plot_comparison
from surefit.plots.scores.comparison import plot_scores as plot_scores
from surefit.plots.scores.confusion import plot_confusion as plot_confusion
from surefit.plots.scores.curves import plot_curve as plot_curve
from surefit.plots.scores.residuals import plot_residuals as plot_residuals
from surefit.plots.scores.roc import plot_precision_recall as plot_precision_recall
from surefit.plots.scores.roc import plot_roc as plot_roc
from surefit.plots.scores.threshold import plot_threshold as plot_threshold
from surefit.plots.trace import plot_trace as plot_trace
from surefit.plots.tree import plot_tree as plot_tree

__all__: list[str]

def __dir__() -> list[str]: ...

"""Learning theory under one roof: what rows can say of rows not seen, as functions that return the bound.

Hoeffding's inequality (probability, deviation, rows needed, interval), risks and posteriors of a finite set
of hypotheses, growth functions and VC dimensions, the bounds made of them, and what many dimensions do to
distances.

>>> from surefit import theory
>>> round(theory.hoeffding_probability(100, 0.1), 4)
0.2707
>>> round(theory.cube_edge(0.1, 10), 4)
0.7943
"""

from surefit.evaluate.theory.curse_of_dimensionality import cube_edge as cube_edge
from surefit.evaluate.theory.curse_of_dimensionality import distance_contrast as distance_contrast
from surefit.evaluate.theory.curse_of_dimensionality import empty_cube_edge as empty_cube_edge
from surefit.evaluate.theory.curse_of_dimensionality import empty_cube_probability as empty_cube_probability
from surefit.evaluate.theory.curse_of_dimensionality import label_disagreement as label_disagreement
from surefit.evaluate.theory.curse_of_dimensionality import nearest_neighbor_bound as nearest_neighbor_bound
from surefit.evaluate.theory.curse_of_dimensionality import nearest_neighbor_excess as nearest_neighbor_excess
from surefit.evaluate.theory.curse_of_dimensionality import nearest_neighbor_rows as nearest_neighbor_rows
from surefit.evaluate.theory.curse_of_dimensionality import shell_share as shell_share
from surefit.evaluate.theory.curse_of_dimensionality import sphere_share as sphere_share
from surefit.evaluate.theory.curse_of_dimensionality import sphere_volume as sphere_volume
from surefit.evaluate.theory.finite_hypotheses import all_hypotheses as all_hypotheses
from surefit.evaluate.theory.finite_hypotheses import averaged_hypotheses as averaged_hypotheses
from surefit.evaluate.theory.finite_hypotheses import hypothesis_posterior as hypothesis_posterior
from surefit.evaluate.theory.finite_hypotheses import likelihoods as likelihoods
from surefit.evaluate.theory.finite_hypotheses import risks as risks
from surefit.evaluate.theory.finite_hypotheses import version_space as version_space
from surefit.evaluate.theory.growth import growth_function as growth_function
from surefit.evaluate.theory.growth import halfspace_growth as halfspace_growth
from surefit.evaluate.theory.growth import labellings as labellings
from surefit.evaluate.theory.growth import rademacher_complexity as rademacher_complexity
from surefit.evaluate.theory.growth import sauer_bound as sauer_bound
from surefit.evaluate.theory.growth import vc_dimension as vc_dimension
from surefit.evaluate.theory.hoeffding import hoeffding_deviation as hoeffding_deviation
from surefit.evaluate.theory.hoeffding import hoeffding_interval as hoeffding_interval
from surefit.evaluate.theory.hoeffding import hoeffding_probability as hoeffding_probability
from surefit.evaluate.theory.hoeffding import hoeffding_rows as hoeffding_rows
from surefit.evaluate.theory.no_free_lunch import no_free_lunch as no_free_lunch
from surefit.evaluate.theory.vapnik_chervonenkis import pac_rows as pac_rows
from surefit.evaluate.theory.vapnik_chervonenkis import rademacher_deviation as rademacher_deviation
from surefit.evaluate.theory.vapnik_chervonenkis import vc_deviation as vc_deviation
from surefit.evaluate.theory.vapnik_chervonenkis import vc_probability as vc_probability
from surefit.evaluate.theory.vapnik_chervonenkis import vc_rows as vc_rows

"""Optimisation under one roof: programmes, conditions, probes and projections, each on plain functions.

>>> from surefit import optimize
>>> optimize.numerical_gradient(lambda x: x[0] ** 2, [3.0]).round(9)
array([6.])
"""

from surefit.penalties.intersection_dykstra import projection_certificate as projection_certificate
from surefit.penalties.positive_semidefinite import pack as pack
from surefit.penalties.positive_semidefinite import unpack as unpack
from surefit.solvers.conditions.bregman import bregman_divergence as bregman_divergence
from surefit.solvers.conditions.bregman import jensen_shannon_distance as jensen_shannon_distance
from surefit.solvers.conditions.conditioning import condition_of_problem as condition_of_problem
from surefit.solvers.conditions.convexity import probe_convex_set as probe_convex_set
from surefit.solvers.conditions.convexity import probe_convexity as probe_convexity
from surefit.solvers.conditions.convexity import probe_curvature as probe_curvature
from surefit.solvers.conditions.convexity import probe_tangents as probe_tangents
from surefit.solvers.conditions.differences import numerical_gradient as numerical_gradient
from surefit.solvers.conditions.differences import numerical_hessian as numerical_hessian
from surefit.solvers.conditions.differences import numerical_jacobian as numerical_jacobian
from surefit.solvers.conditions.gradient_check import check_gradient as check_gradient
from surefit.solvers.conditions.kkt import kkt_residuals as kkt_residuals
from surefit.solvers.conditions.lagrangian import dual_value as dual_value
from surefit.solvers.conditions.lagrangian import lagrangian as lagrangian
from surefit.solvers.conditions.lagrangian import lagrangian_gradient as lagrangian_gradient
from surefit.solvers.conditions.optimality import first_order_residual as first_order_residual
from surefit.solvers.conditions.probe import Probe as Probe
from surefit.solvers.conditions.probe import box_sampler as box_sampler
from surefit.solvers.conditions.probe import segment_sampler as segment_sampler
from surefit.solvers.conditions.problem import ConstrainedProblem as ConstrainedProblem
from surefit.solvers.conditions.qualification import constraint_qualification as constraint_qualification
from surefit.solvers.conditions.slater import slater_of_problem as slater_of_problem
from surefit.solvers.conditions.slater import slater_of_program as slater_of_program
from surefit.solvers.conditions.smoothness import probe_smoothness as probe_smoothness
from surefit.solvers.conditions.stationarity import classify_stationary as classify_stationary
from surefit.solvers.conditions.subdifferential import is_subgradient as is_subgradient
from surefit.solvers.conditions.taylor import taylor_model as taylor_model
from surefit.solvers.first_order.backtracking import armijo as armijo
from surefit.solvers.first_order.backtracking import backtracking as backtracking
from surefit.solvers.first_order.backtracking import curvature as curvature
from surefit.solvers.first_order.backtracking import wolfe as wolfe
from surefit.solvers.first_order.exact_line_search import exact_step as exact_step
from surefit.solvers.first_order.rates import iterations_needed as iterations_needed
from surefit.solvers.first_order.rates import linear_rate_iterations as linear_rate_iterations
from surefit.solvers.first_order.wolfe_line_search import strong_wolfe as strong_wolfe
from surefit.solvers.methods.bfgs import direct_update as direct_update
from surefit.solvers.methods.bfgs import inverse_update as inverse_update
from surefit.solvers.methods.minimize import methods as methods
from surefit.solvers.methods.minimize import minimize as minimize
from surefit.solvers.objective.constrained_function import ConstrainedObjective as ConstrainedObjective
from surefit.solvers.objective.function import FunctionObjective as FunctionObjective
from surefit.solvers.objective.function import Shape as Shape
from surefit.solvers.objective.function import Terms as Terms
from surefit.solvers.program.certificate import infeasibility_certificate as infeasibility_certificate
from surefit.solvers.program.certificate import optimality_certificate as optimality_certificate
from surefit.solvers.program.certificate import unboundedness_certificate as unboundedness_certificate
from surefit.solvers.program.data import Multipliers as Multipliers
from surefit.solvers.program.data import Program as Program
from surefit.solvers.program.linear_program import linear_program as linear_program
from surefit.solvers.program.phase_one import InfeasibleError as InfeasibleError
from surefit.solvers.program.phase_one import UnboundedError as UnboundedError
from surefit.solvers.program.quadratic_program import quadratic_program as quadratic_program
from surefit.solvers.svm.dual_coordinates import DualCoordinates as DualCoordinates

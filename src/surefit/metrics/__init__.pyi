# Written by `make stubs`; do not edit.

from surefit.metrics.absolute import D2AbsoluteError as _D2AbsoluteError
from surefit.metrics.absolute import D2Pinball as _D2Pinball
from surefit.metrics.absolute import MaxError as _MaxError
from surefit.metrics.absolute import MeanAbsoluteError as _MeanAbsoluteError
from surefit.metrics.absolute import MeanAbsolutePercentageError as _MeanAbsolutePercentageError
from surefit.metrics.absolute import MeanPinballLoss as _MeanPinballLoss
from surefit.metrics.absolute import MedianAbsoluteError as _MedianAbsoluteError
from surefit.metrics.agreement import CohenKappa as _CohenKappa
from surefit.metrics.agreement import HammingLoss as _HammingLoss
from surefit.metrics.agreement import LikelihoodRatios as _LikelihoodRatios
from surefit.metrics.agreement import MatthewsCorrelation as _MatthewsCorrelation
from surefit.metrics.agreement import MisclassificationCost as _MisclassificationCost
from surefit.metrics.agreement import MultilabelConfusion as _MultilabelConfusion
from surefit.metrics.agreement import PrecisionRecallFScore as _PrecisionRecallFScore
from surefit.metrics.agreement import ZeroOneLoss as _ZeroOneLoss
from surefit.metrics.areas import AveragePrecision as _AveragePrecision
from surefit.metrics.areas import RocAuc as _RocAuc
from surefit.metrics.base import Metric as Metric
from surefit.metrics.calibration import CalibrationCurve as _CalibrationCurve
from surefit.metrics.calibration import ExpectedCalibrationError as _ExpectedCalibrationError
from surefit.metrics.calibration import MaximumCalibrationError as _MaximumCalibrationError
from surefit.metrics.classification import Accuracy as _Accuracy
from surefit.metrics.classification import BalancedAccuracy as _BalancedAccuracy
from surefit.metrics.clusters import CalinskiHarabasz as _CalinskiHarabasz
from surefit.metrics.clusters import DaviesBouldin as _DaviesBouldin
from surefit.metrics.clusters import Dunn as _Dunn
from surefit.metrics.clusters import Silhouette as _Silhouette
from surefit.metrics.confusion import ConfusionMatrix as _ConfusionMatrix
from surefit.metrics.curves import CostThreshold as _CostThreshold
from surefit.metrics.curves import DetCurve as _DetCurve
from surefit.metrics.curves import EqualErrorRate as _EqualErrorRate
from surefit.metrics.curves import GainsCurve as _GainsCurve
from surefit.metrics.curves import KolmogorovSmirnov as _KolmogorovSmirnov
from surefit.metrics.curves import LiftCurve as _LiftCurve
from surefit.metrics.curves import PrecisionRecallCurve as _PrecisionRecallCurve
from surefit.metrics.curves import RocCurve as _RocCurve
from surefit.metrics.deviance import D2Tweedie as _D2Tweedie
from surefit.metrics.deviance import GammaDeviance as _GammaDeviance
from surefit.metrics.deviance import PoissonDeviance as _PoissonDeviance
from surefit.metrics.deviance import TweedieDeviance as _TweedieDeviance
from surefit.metrics.explained import AdjustedR2 as _AdjustedR2
from surefit.metrics.explained import ExplainedVariance as _ExplainedVariance
from surefit.metrics.log_errors import MeanSquaredLogError as _MeanSquaredLogError
from surefit.metrics.log_errors import RootMeanSquaredLogError as _RootMeanSquaredLogError
from surefit.metrics.logarithmic import LogLoss as _LogLoss
from surefit.metrics.partitions import AdjustedMutualInformation as _AdjustedMutualInformation
from surefit.metrics.partitions import AdjustedRand as _AdjustedRand
from surefit.metrics.partitions import Completeness as _Completeness
from surefit.metrics.partitions import FowlkesMallows as _FowlkesMallows
from surefit.metrics.partitions import Homogeneity as _Homogeneity
from surefit.metrics.partitions import MutualInformation as _MutualInformation
from surefit.metrics.partitions import NormalizedMutualInformation as _NormalizedMutualInformation
from surefit.metrics.partitions import PairConfusion as _PairConfusion
from surefit.metrics.partitions import Purity as _Purity
from surefit.metrics.partitions import Rand as _Rand
from surefit.metrics.partitions import VMeasure as _VMeasure
from surefit.metrics.probability import BrierScore as _BrierScore
from surefit.metrics.probability import D2Brier as _D2Brier
from surefit.metrics.probability import D2LogLoss as _D2LogLoss
from surefit.metrics.probability import HingeLoss as _HingeLoss
from surefit.metrics.probability import TopKAccuracy as _TopKAccuracy
from surefit.metrics.ranking import CoverageError as _CoverageError
from surefit.metrics.ranking import DCG as _DCG
from surefit.metrics.ranking import LabelRankingLoss as _LabelRankingLoss
from surefit.metrics.ranking import LabelRankingPrecision as _LabelRankingPrecision
from surefit.metrics.ranking import NDCG as _NDCG
from surefit.metrics.ranking import ReciprocalRank as _ReciprocalRank
from surefit.metrics.rates import F1 as _F1
from surefit.metrics.rates import FBeta as _FBeta
from surefit.metrics.rates import FalseDiscoveryRate as _FalseDiscoveryRate
from surefit.metrics.rates import FalseNegativeRate as _FalseNegativeRate
from surefit.metrics.rates import FalsePositiveRate as _FalsePositiveRate
from surefit.metrics.rates import Jaccard as _Jaccard
from surefit.metrics.rates import NegativePredictiveValue as _NegativePredictiveValue
from surefit.metrics.rates import Precision as _Precision
from surefit.metrics.rates import Recall as _Recall
from surefit.metrics.rates import Specificity as _Specificity
from surefit.metrics.squared import ExplainedR2 as _ExplainedR2
from surefit.metrics.squared import MeanSquaredError as _MeanSquaredError
from surefit.metrics.squared import R2 as _R2
from surefit.metrics.squared import RootMeanSquaredError as _RootMeanSquaredError
from surefit.metrics.squared import SumSquaredError as _SumSquaredError

accuracy_score: _Accuracy
adjusted_mutual_info_score: _AdjustedMutualInformation
adjusted_r2_score: _AdjustedR2
adjusted_rand_score: _AdjustedRand
average_precision_score: _AveragePrecision
balanced_accuracy_score: _BalancedAccuracy
brier_score_loss: _BrierScore
calibration_curve: _CalibrationCurve
calinski_harabasz_score: _CalinskiHarabasz
class_likelihood_ratios: _LikelihoodRatios
cohen_kappa_score: _CohenKappa
completeness_score: _Completeness
confusion_matrix: _ConfusionMatrix
cost_optimal_threshold: _CostThreshold
coverage_error: _CoverageError
cumulative_gains_curve: _GainsCurve
d2_absolute_error_score: _D2AbsoluteError
d2_brier_score: _D2Brier
d2_log_loss_score: _D2LogLoss
d2_pinball_score: _D2Pinball
d2_tweedie_score: _D2Tweedie
davies_bouldin_score: _DaviesBouldin
dcg_score: _DCG
det_curve: _DetCurve
dunn_score: _Dunn
equal_error_rate: _EqualErrorRate
expected_calibration_error: _ExpectedCalibrationError
explained_variance_score: _ExplainedVariance
f1_score: _F1
false_discovery_rate: _FalseDiscoveryRate
false_negative_rate: _FalseNegativeRate
false_positive_rate: _FalsePositiveRate
fbeta_score: _FBeta
fowlkes_mallows_score: _FowlkesMallows
hamming_loss: _HammingLoss
hinge_loss: _HingeLoss
homogeneity_score: _Homogeneity
jaccard_score: _Jaccard
ks_statistic: _KolmogorovSmirnov
label_ranking_average_precision_score: _LabelRankingPrecision
label_ranking_loss: _LabelRankingLoss
lift_curve: _LiftCurve
log_loss: _LogLoss
matthews_corrcoef: _MatthewsCorrelation
max_error: _MaxError
maximum_calibration_error: _MaximumCalibrationError
mean_absolute_error: _MeanAbsoluteError
mean_absolute_percentage_error: _MeanAbsolutePercentageError
mean_gamma_deviance: _GammaDeviance
mean_pinball_loss: _MeanPinballLoss
mean_poisson_deviance: _PoissonDeviance
mean_reciprocal_rank: _ReciprocalRank
mean_squared_error: _MeanSquaredError
mean_squared_log_error: _MeanSquaredLogError
mean_tweedie_deviance: _TweedieDeviance
median_absolute_error: _MedianAbsoluteError
misclassification_cost: _MisclassificationCost
multilabel_confusion_matrix: _MultilabelConfusion
mutual_info_score: _MutualInformation
ndcg_score: _NDCG
negative_predictive_value: _NegativePredictiveValue
normalized_mutual_info_score: _NormalizedMutualInformation
pair_confusion_matrix: _PairConfusion
precision_recall_curve: _PrecisionRecallCurve
precision_recall_fscore_support: _PrecisionRecallFScore
precision_score: _Precision
purity_score: _Purity
r2_explained: _ExplainedR2
r2_score: _R2
rand_score: _Rand
recall_score: _Recall
roc_auc_score: _RocAuc
roc_curve: _RocCurve
root_mean_squared_error: _RootMeanSquaredError
root_mean_squared_log_error: _RootMeanSquaredLogError
silhouette_score: _Silhouette
specificity_score: _Specificity
sum_squared_error: _SumSquaredError
top_k_accuracy_score: _TopKAccuracy
v_measure_score: _VMeasure
zero_one_loss: _ZeroOneLoss

def __dir__() -> list[str]: ...

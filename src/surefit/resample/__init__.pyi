# Written by `make stubs`; do not edit.

from surefit.resample.base import Split as Split
from surefit.resample.bootstrap import Bootstrap as Bootstrap
from surefit.resample.folds import GroupKFold as GroupKFold
from surefit.resample.folds import KFold as KFold
from surefit.resample.folds import LeaveOneOut as LeaveOneOut
from surefit.resample.folds import RepeatedKFold as RepeatedKFold
from surefit.resample.folds import RepeatedStratifiedKFold as RepeatedStratifiedKFold
from surefit.resample.folds import StratifiedGroupKFold as StratifiedGroupKFold
from surefit.resample.folds import StratifiedKFold as StratifiedKFold
from surefit.resample.hold_out import HoldOut as HoldOut
from surefit.resample.leave_out import LeaveOneGroupOut as LeaveOneGroupOut
from surefit.resample.leave_out import LeavePGroupsOut as LeavePGroupsOut
from surefit.resample.leave_out import LeavePOut as LeavePOut
from surefit.resample.shuffled import GroupShuffleSplit as GroupShuffleSplit
from surefit.resample.shuffled import ShuffleSplit as ShuffleSplit
from surefit.resample.shuffled import StratifiedShuffleSplit as StratifiedShuffleSplit
from surefit.resample.source_split import source_sample as source_sample
from surefit.resample.sources import source_folds as source_folds
from surefit.resample.three_parts import TrainValidationTest as TrainValidationTest
from surefit.resample.time_ordered import TimeSeriesSplit as TimeSeriesSplit

def __dir__() -> list[str]: ...

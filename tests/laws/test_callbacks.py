"""Callbacks on scikit-learn's protocol: alone, in a Pipeline, and in a GridSearchCV with two workers."""

from __future__ import annotations

import logging
import os

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.toys import DescentMean

import surefit
from surefit import Checkpoint, EarlyStopping, Logger, ProgressBar, TimeBudget
from surefit.core import progress
from surefit.core.certificate import CertificateWarning
from surefit.core.errors import ParameterError

X = np.arange(24.0).reshape(12, 2)
y = np.linspace(1.0, 3.0, 12)
UNPROVED = "ignore::surefit.core.certificate.CertificateWarning"


def search(model, **settings):
    return GridSearchCV(model, {"rate": [0.1, 0.3]}, cv=2, n_jobs=2, **settings)


class TestProtocol:
    def test_one_task_a_fit_and_one_an_iteration(self):
        class Recorder:
            def __init__(self):
                self.seen = []

            def setup(self, estimator, context):
                self.seen.append("setup")

            def teardown(self, estimator, context):
                self.seen.append("teardown")

            def on_fit_task_begin(self, estimator, context, *, X, y, metadata):
                assert X is not None
                assert y is not None
                assert metadata is None
                self.seen.append(("begin", context.task_name, context.task_id))

            def on_fit_task_end(self, estimator, context, *, fitted_estimator):
                self.seen.append(("end", context.task_name, context.task_id))
                if context.task_name == "iteration":
                    assert len(estimator.trace_) == context.task_id + 1
                    assert fitted_estimator.predict(X)[0] == fitted_estimator.center_

        recorder = Recorder()
        model = DescentMean(rate=0.9).set_callbacks(recorder).fit(X, y)
        n = model.n_iter_
        assert n > 3
        iterations = [(what, "iteration", i) for i in range(n) for what in ("begin", "end")]
        assert recorder.seen == ["setup", ("begin", "fit", 0), *iterations, ("end", "fit", 0), "teardown"]

    def test_a_failing_fit_tears_down(self):
        class Counter(surefit.core.callbacks.base.Callback):
            down = 0

            def teardown(self, estimator, context):
                self.down += 1

            def on_fit_task_end(self, estimator, context):
                raise ZeroDivisionError

        counter = Counter()
        model = DescentMean().set_callbacks(counter)
        with pytest.raises(ZeroDivisionError):
            model.fit(X, y)
        assert counter.down == 1
        assert not hasattr(model, "trace_")
        assert not hasattr(model, "_callback_fit_ctx")

    def test_closed_forms_have_a_fit_task_too(self):
        budget = TimeBudget(60)
        assert surefit.MeanRegressor().set_callbacks(budget).fit(X, y).certificate_.holds


class TestEarlyStopping:
    def test_stops_when_the_objective_stalls(self):
        model = DescentMean(rate=1e-6, max_iter=50).set_callbacks(EarlyStopping(patience=3, min_delta=0.1))
        with pytest.warns(CertificateWarning, match="a callback asked it to"):
            model.fit(X, y)
        assert model.n_iter_ == 4
        assert model.trace_.asked_to_stop

    def test_monitors_a_score_of_the_model_as_it_stands(self):
        scores = []

        def held_out(model):
            scores.append(model.score(X, y))
            return scores[-1]

        model = DescentMean(rate=0.9).set_callbacks(EarlyStopping(patience=2, monitor=held_out)).fit(X, y)
        assert len(scores) == model.n_iter_
        assert scores[-1] > scores[0]

    @pytest.mark.filterwarnings(UNPROVED)
    def test_in_a_pipeline_and_a_search(self):
        stopper = EarlyStopping(patience=2, min_delta=10.0)
        piped = make_pipeline(StandardScaler(), DescentMean().set_callbacks(stopper)).fit(X, y)
        assert piped[-1].n_iter_ == 3
        found = search(DescentMean().set_callbacks(stopper)).fit(X, y)
        assert found.best_estimator_.n_iter_ == 3
        assert clone(found.best_estimator_)._skl_callbacks == [stopper]
        assert not stopper._fits

    def test_bad_arguments(self):
        for arguments in ({"patience": 0}, {"min_delta": -1}, {"monitor": "loss"}):
            with pytest.raises(ParameterError, match=next(iter(arguments))):
                EarlyStopping(**arguments)


class TestTimeBudget:
    @pytest.mark.filterwarnings(UNPROVED)
    def test_stops_after_the_iteration_under_way(self):
        slow = DescentMean(rate=1e-9, max_iter=10_000, pause=0.01)
        model = clone(slow).set_callbacks(TimeBudget(0.05)).fit(X, y)
        assert 1 <= model.n_iter_ < 100
        piped = make_pipeline(StandardScaler(), slow).set_callbacks(TimeBudget(0.05)).fit(X, y)
        assert 1 <= piped[-1].n_iter_ < 100

    @pytest.mark.filterwarnings(UNPROVED)
    def test_one_budget_for_a_whole_search(self):
        slow = DescentMean(rate=1e-9, max_iter=10_000, pause=0.01)
        found = search(slow).set_callbacks(TimeBudget(0.05)).fit(X, y)
        assert 1 <= found.best_estimator_.n_iter_ < 100
        with pytest.raises(ParameterError, match="seconds=0"):
            TimeBudget(0)


class TestLogger:
    def test_logs_objective_and_gap(self, caplog):
        caplog.set_level(logging.INFO, logger="surefit")
        model = DescentMean(rate=0.9).set_callbacks(Logger(every=2)).fit(X, y)
        assert len(caplog.records) == (model.n_iter_ + 1) // 2
        assert "DescentMean [0] iteration 0  objective" in caplog.text
        assert "gap" in caplog.text

    def test_workers_log_through_the_main_process(self, caplog):
        caplog.set_level(logging.INFO, logger="surefit")
        search(DescentMean(rate=0.9), refit=False).set_callbacks(Logger()).fit(X, y)
        tasks = {record.getMessage().split("]")[0] for record in caplog.records}
        assert len(tasks) == 4  # two rates, two folds
        assert {record.process for record in caplog.records} == {os.getpid()}

    def test_in_a_pipeline(self, caplog):
        caplog.set_level(logging.INFO, logger="surefit")
        make_pipeline(StandardScaler(), DescentMean(rate=0.9)).set_callbacks(Logger()).fit(X, y)
        assert "DescentMean [0.1] iteration 0" in caplog.text


class TestCheckpoint:
    def test_writes_a_whole_file_that_can_be_loaded(self, tmp_path):
        model = DescentMean(rate=0.9).set_callbacks(Checkpoint(tmp_path / "new" / "folder")).fit(X, y)
        (file,) = (tmp_path / "new" / "folder").iterdir()
        again = surefit.load(file, classes=[DescentMean])
        assert file.name == "DescentMean-0.safetensors"
        assert again.center_ == model.center_

    @pytest.mark.filterwarnings(UNPROVED)
    def test_every_so_many_iterations(self, tmp_path):
        DescentMean(max_iter=7).set_callbacks(Checkpoint(tmp_path, every=5)).fit(X, y)
        again = surefit.load(next(tmp_path.iterdir()), classes=[DescentMean])
        five = DescentMean(max_iter=5).fit(X, y)
        assert again.center_ == five.center_

    def test_each_fit_of_a_search_has_its_own_file(self, tmp_path):
        search(DescentMean(rate=0.9).set_callbacks(Checkpoint(tmp_path)), refit=False).fit(X, y)
        assert len(list(tmp_path.glob("DescentMean-*.safetensors"))) == 4
        make_pipeline(StandardScaler(), DescentMean().set_callbacks(Checkpoint(tmp_path / "p"))).fit(X, y)
        assert [path.name for path in (tmp_path / "p").iterdir()] == ["DescentMean-0.1.safetensors"]


class TestProgressBar:
    def test_silent_when_nobody_looks(self, capfd):
        DescentMean().set_callbacks(ProgressBar()).fit(X, y)
        printed = capfd.readouterr()
        assert (printed.out, printed.err) == ("", "")

    @pytest.mark.filterwarnings(UNPROVED)
    def test_appears_on_a_long_fit_with_objective_and_gap(self, capfd, monkeypatch):
        monkeypatch.setattr("surefit.core.callbacks.progress_bar.PATIENCE", 0.01)
        monkeypatch.setenv("COLUMNS", "160")
        with surefit.config(progress="on"):
            DescentMean(rate=1e-9, max_iter=40, pause=0.02).set_callbacks(ProgressBar()).fit(X, y)
        shown = capfd.readouterr()
        assert shown.out == ""
        assert "DescentMean fit" in shown.err
        assert "gap" in shown.err

    def test_not_before_its_time(self, capfd, monkeypatch):
        assert progress.PATIENCE == 2.0  # seconds, which a fit on a busy machine may well take
        monkeypatch.setattr("surefit.core.callbacks.progress_bar.PATIENCE", 600.0)
        with surefit.config(progress="on"):
            DescentMean().set_callbacks(ProgressBar()).fit(X, y)
        assert "DescentMean" not in capfd.readouterr().err

    def test_in_a_search_with_workers(self, capfd, monkeypatch):
        monkeypatch.setattr("surefit.core.callbacks.progress_bar.PATIENCE", 0.01)
        monkeypatch.setenv("COLUMNS", "160")
        with surefit.config(progress="on"):
            model = make_pipeline(StandardScaler(), DescentMean(rate=0.9, pause=0.1))
            grid = GridSearchCV(model, {"descentmean__rate": [0.5, 0.9]}, cv=2, n_jobs=2)
            grid.set_callbacks(ProgressBar(max_propagation_depth=None)).fit(X, y)
        assert "DescentMean fit" in capfd.readouterr().err


def test_a_bar_around_a_loop(capfd, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.progress("reading", total=3) as bar:
        bar.advance()
    assert capfd.readouterr().err == ""
    board = progress.Board(patience=0.0)
    board.open("a", "reading", 2)
    board._timer.join()  # the thread in which it appears
    board.advance("a", 1, "half")
    board.finish("a")
    board.close()
    assert board.appeared


def test_a_search_with_two_workers_keeps_to_two_threads():
    found = search(DescentMean(rate=0.9)).fit(np.zeros((2000, 50)), np.linspace(0, 1, 2000))
    assert found.n_splits_ == 2
    many = GridSearchCV(
        ThreadReport(), {"rate": [0.5, 0.6]}, cv=2, n_jobs=2, refit=False, scoring=threads_used
    )
    many.fit(np.zeros((2000, 50)), np.linspace(0, 1, 2000))
    used = [many.cv_results_[f"split{k}_test_score"] for k in range(2)]
    assert np.max(used) == 1  # each of the two worker processes computes in one thread


class ThreadReport(DescentMean):
    """Its fit remembers how many threads its kernels had."""


def threads_used(model, X, y):
    return max(model.threads_seen_, 1 + model.pool_seen_)

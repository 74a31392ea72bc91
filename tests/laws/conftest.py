"""One Dask cluster for all tests of a process: two workers, each a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

LARGEST = 20_000  # bytes that a watched client may gather at a time


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    ) as workers:
        yield workers


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    """The client in force, on a cluster that has both of its workers, whatever the last test did to them."""
    from distributed import Client

    with Client(cluster) as client:
        client.wait_for_workers(2, timeout=300)
        yield client


@pytest.fixture
def watched(client: Any, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Fail when the client gathers anything large; the sizes of what it gathered."""
    from dask.sizeof import sizeof
    from distributed import Client

    gather, sizes = Client._gather_remote, []

    async def checked(self: Any, *arguments: Any, **settings: Any) -> Any:
        response = await gather(self, *arguments, **settings)
        sizes.extend(sizeof(value) for value in response["data"].values())
        assert max(sizes, default=0) <= LARGEST, f"{max(sizes)} bytes came to the client."
        return response

    monkeypatch.setattr(Client, "_gather_remote", checked)
    return sizes

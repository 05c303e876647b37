"""Who does the work of a scan: processes of this machine, or a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from satyrn_engine._node import Guards, find_node
from satyrn_engine._options import default_jobs
from satyrn_engine._pool import LocalWorkforce, Workforce
from satyrn_engine._sources import STDIN
from satyrn_engine.errors import ConfigError

#: Stands for a cluster of processes on this machine.
LOCAL = "local"


def check_workforce(jobs: int | None, cluster: str | None, paths: Sequence[str]) -> None:
    """Refuse what cannot be done, before anything is.

    Args:
        jobs: processes on this machine; none for as many as it has cores.
        cluster: address of a Dask scheduler, `local`, or none.
        paths: what is to be scanned.

    Raises:
        ConfigError: if the work cannot be done like that.
        NodeError: if this machine does the work and has no Node.js for it.
    """
    if jobs is not None and jobs < 1:
        raise ConfigError("--jobs must be 1 or more")
    if cluster in (None, LOCAL):
        find_node()
        return
    if jobs is not None:
        raise ConfigError(
            "--jobs is for this machine; a cluster uses the workers that it has: leave it out"
        )
    if any(path in ("-", STDIN) for path in paths):
        raise ConfigError(
            "standard input cannot be sent to a cluster; save it where its workers can read it, "
            "or leave out --cluster"
        )


def new_workforce(guards: Guards, jobs: int | None, cluster: str | None) -> Workforce:
    """Return who does the work.

    Raises:
        ClusterError: if the cluster cannot be reached, or cannot do the work.
    """
    if cluster is None:
        return LocalWorkforce(guards, jobs or default_jobs())
    # Dask is only loaded when it is asked for.
    from satyrn_engine._cluster import ClusterWorkforce
    from satyrn_engine._cluster_local import local_cluster

    if cluster == LOCAL:
        return ClusterWorkforce(guards, local_cluster(jobs or default_jobs()), here=True)
    return ClusterWorkforce(guards, nullcontext(cluster), here=False)

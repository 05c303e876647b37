"""A temporary home for Pi: nothing of the user's goes in, nothing of Pi's stays behind."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import tempfile
import time
import uuid
from pathlib import Path
from typing import Self

from satyrn_engine.testing.model import ScriptedModel
from satyrn_engine.testing.program import PiProgram
from satyrn_engine.testing.signals import HeldSignals

PROVIDER = "scripted"
"""The provider under which `models.json` declares the scripted model."""

_CONTEXT_WINDOW = 128_000
_MAX_TOKENS = 16_384
_REMOVE_PAUSE_SECONDS = 0.2


class PiHome:
    """A home, an agent directory, a project and a `PATH`, under one temporary folder.

    >>> # with PiHome(find_pi()) as home: RealPi(home).install(folder)

    Attributes:
        root: The temporary folder; leaving the `with` block removes it.
        home: What Pi sees as the user's home.
        agent_dir: Pi's agent directory, named by `PI_CODING_AGENT_DIR` and outside `home`, so that
            anything in `home` afterwards is something that strayed.
        project: The folder in which Pi works.
        npm_prefix: npm's global folder, into which old versions of Pi install packages.
        program: The Pi that this home is for.
        model: The model that `use_model` declared.
    """

    def __init__(
        self, program: PiProgram, parent: Path | None = None, *, offline: bool = True
    ) -> None:
        """Make the folders, under `parent` or where temporary files go.

        `offline` sets `PI_OFFLINE`. Some versions before 0.79.10 do not load a package that was
        installed from a tarball then: they take its path for a version that is not yet there.
        """
        self.program = program
        self._offline = offline
        self.model: ScriptedModel | None = None
        # The name comes first: whatever interrupts from here on, the folder can be removed.
        self.root = Path(parent or tempfile.gettempdir()).resolve() / f"satyrn-{uuid.uuid4().hex}"
        self.home = self.root / "home"
        self.agent_dir = self.root / "agent"
        self.project = self.root / "project"
        self._bin = self.root / "bin"
        self._tmp = self.root / "tmp"
        self._npm = self.root / "npm"
        self.npm_prefix = self._npm / "prefix"
        with HeldSignals() as signals:
            try:
                with signals.let_through():
                    self.root.mkdir(mode=0o700)
                    self._furnish()
            except BaseException:
                self.close()
                raise

    def __enter__(self) -> Self:
        """Return the home, which is ready already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the folder."""
        self.close()

    def close(self) -> None:
        """Remove the folder, unwritable parts of it too. Idempotent; signals wait for it."""
        with HeldSignals():
            self._remove()

    def _remove(self) -> None:
        for current, _, _ in os.walk(self.root):
            with contextlib.suppress(OSError):
                os.chmod(current, 0o700)  # noqa: PTH101 - os.walk gives strings
        for last in (False, False, True):
            try:
                shutil.rmtree(self.root)
            except FileNotFoundError:
                return
            except OSError:
                # A process that has just been ended may still have written a file.
                if last:
                    raise
                time.sleep(_REMOVE_PAUSE_SECONDS)

    def clear(self) -> None:
        """Empty the project and forget all sessions; what is installed stays."""
        shutil.rmtree(self.agent_dir / "sessions", ignore_errors=True)
        shutil.rmtree(self.project)
        self.project.mkdir()

    @property
    def settings(self) -> Path:
        """Pi's settings file, which need not exist."""
        return self.agent_dir / "settings.json"

    def session_files(self) -> tuple[Path, ...]:
        """Return the session files, oldest first (their names begin with the time)."""
        files = (self.agent_dir / "sessions").rglob("*.jsonl")
        return tuple(sorted(files, key=lambda path: path.name))

    def use_model(self, model: ScriptedModel, *, reasoning: bool = True) -> None:
        """Declare `model` to Pi as its only model of its own."""
        self.model = model
        price = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
        declared = {
            "id": model.name,
            "name": model.name,
            "reasoning": reasoning,
            "input": ["text"],
            "contextWindow": _CONTEXT_WINDOW,
            "maxTokens": _MAX_TOKENS,
            "cost": price,
        }
        provider = {
            "baseUrl": model.base_url,
            "api": "openai-completions",
            "apiKey": "none",
            "models": [declared],
        }
        text = json.dumps({"providers": {PROVIDER: provider}}, indent=2)
        (self.agent_dir / "models.json").write_text(text, encoding="utf-8")

    def environment(self) -> dict[str, str]:
        """Return the environment for Pi: built from nothing, not from the caller's.

        `PATH` holds node, npm and the system's own commands. npm keeps to this home, asks nothing
        of the network and leaves peer dependencies alone, which Pi itself provides.
        """
        return {
            "PATH": os.pathsep.join([str(self._bin), os.defpath]),
            "HOME": str(self.home),
            "TMPDIR": str(self._tmp),
            "LANG": "C.UTF-8",
            "PI_CODING_AGENT_DIR": str(self.agent_dir),
            "PI_OFFLINE": "1" if self._offline else "0",
            "PI_SKIP_VERSION_CHECK": "1",
            "PI_TELEMETRY": "0",
            "npm_config_cache": str(self._npm / "cache"),
            "npm_config_prefix": str(self.npm_prefix),
            "npm_config_userconfig": str(self._npm / "npmrc"),
            "npm_config_globalconfig": str(self._npm / "global-npmrc"),
            "npm_config_offline": "true",
            "npm_config_legacy_peer_deps": "true",
            "npm_config_update_notifier": "false",
            "npm_config_audit": "false",
            "npm_config_fund": "false",
        }

    def _furnish(self) -> None:
        for folder in (self.home, self.agent_dir, self.project, self._bin, self._tmp, self._npm):
            folder.mkdir()
        (self._bin / "node").symlink_to(self.program.node)
        if self.program.npm is not None:
            npm = self._bin / "npm"
            command = shlex.join(self.program.npm)
            npm.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
            npm.chmod(0o755)

"""Render: what the guards call a finding, and what it means."""

from __future__ import annotations

#: `loop_broken` is the engine's, the others are police's.
MEANINGS = {
    "loop_broken": "the same call again, with five identical ones among the last twenty",
    "tool_loop": "a sequence of calls repeated itself back to back",
    "file_scan_loop": "one file was read too often",
    "redundant_reread": "files were read again that had not changed",
    "search_spiral": "one pattern was searched for in more and more places",
    "rejected_call_loop": "calls that Pi rejects, again and again",
    "refusal_ignored": "a refused call was tried again and again",
    "thinking_loop": "thinking repeated itself word for word",
    "semantic_loop": "thinking kept returning to the same paragraph",
    "output_loop": "an answer repeated itself word for word",
    "output_semantic_loop": "an answer kept returning to the same paragraph",
    "stagnation": "thinking stayed the same over several turns",
    "rederived_reasoning": "after a finding, thinking led back to the same plan",
}

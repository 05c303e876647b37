"""Satyrn Engine: loop protection for the Pi coding agent, seen from outside.

The guard itself is TypeScript and runs inside Pi. This package drives and checks it:
`satyrn_engine.testing` runs a real Pi against a scripted model, `satyrn_engine.demo` shows the
guard at work.
"""

"""One whole audit: its context, its mode, the order of its stages, plug-ins, power and the proof by controls.

It may import every room but `cli` and `api`, which start it. It is not called `audit`, because a package of that name
would replace the function `judge_audit.audit` as soon as it is imported.
"""

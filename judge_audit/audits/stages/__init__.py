"""What each stage of an audit does: read tables, call the library, commit tables.

A stage may import any room below `audits` and the values it is handed; `pipeline` alone says in which order they run.
"""

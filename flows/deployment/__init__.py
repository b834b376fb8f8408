"""How flows come to run by themselves: prefect.yaml read and registered, parameters, automations, `serve`.

It imports the flows' `runtime` and the library, and no flow but by name.
"""

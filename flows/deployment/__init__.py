"""How flows come to run by themselves: prefect.yaml read and registered, parameters, automations, `serve`.

It imports the flows' `runtime`, the library and the two entries `audit` and `release`; other flows only by name.
"""

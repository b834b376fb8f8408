"""What is asked of judges that compare two pictures: position bias, order in place of a scale, and their answers.

It may import what `checks` may, and no other folder of checks.
"""

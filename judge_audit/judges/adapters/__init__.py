"""One judge kind a file, found by its `KIND`: how a card of that kind becomes something that scores pictures.

They may import every other folder of `judges` but `controls`, `calling` and `canaries`.
"""

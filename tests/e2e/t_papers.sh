# The thesis's figures 5.1 to 5.4 (docs/results/thesis) are what the command beside them makes of titan.df, and say what the page says that they say.
(cd "$DF_SOURCE" && python3 examples/studies/thesis.py "$DF_BUILD" --check=docs/results/thesis)

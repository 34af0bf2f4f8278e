"""From rows to a fitted model: parameters, recipe, the driver, the solution, the base estimator."""

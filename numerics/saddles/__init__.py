"""Fixed points of gradient flow, and the Hessian of the risk in weight space there."""

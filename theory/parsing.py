def parse_expression(text, *, variable, parameters={}):
    import sympy

    from theory.functions import Ramp, Sigmoid, Softplus

    return sympy.sympify(
        text,
        locals={
            "x": variable,
            "sigmoid": Sigmoid,
            "relu": Ramp,
            "softplus": Softplus,
            **parameters,
        },
    )

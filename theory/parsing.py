def parse_expression(text,*,variable,parameters={}):
    import sympy
    return sympy.sympify(text,locals={'x':variable,**parameters})

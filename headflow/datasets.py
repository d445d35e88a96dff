"""Functions whose Datasets also say which versions produced them."""

from __future__ import annotations

import numerics.dynamics.flow
import numerics.dynamics.jacobian
import numerics.escape
import numerics.saddles.specialization
import numerics.saddles.spectrum
from headflow.versions import versioned

gradient_flow = versioned(numerics.dynamics.flow.gradient_flow)
escape_times = versioned(numerics.escape.escape_times)
specialization = versioned(numerics.saddles.specialization.specialization)
weight_spectrum = versioned(numerics.saddles.spectrum.weight_spectrum)
flow_jacobian = versioned(numerics.dynamics.jacobian.flow_jacobian)

"""Functions whose Datasets also say which versions produced them."""

from __future__ import annotations

import numerics.escape
import numerics.flow
import numerics.flow_jacobian
import numerics.specialization
import numerics.spectrum
from headflow.versions import versioned

gradient_flow = versioned(numerics.flow.gradient_flow)
escape_times = versioned(numerics.escape.escape_times)
specialization = versioned(numerics.specialization.specialization)
weight_spectrum = versioned(numerics.spectrum.weight_spectrum)
flow_jacobian = versioned(numerics.flow_jacobian.flow_jacobian)

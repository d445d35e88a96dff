"""What theory/ produced for each built-in activation; `headflow derive --all` rebuilds it."""

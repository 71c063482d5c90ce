"""The shape of the loop: state, context, routing; knows no model."""

#!/bin/sh
# Start an agent whose model is the one that plays this task: its address stands in MODEL_<task>.
eval "OPENAI_BASE_URL=\$MODEL_$EVAL_NAME"
export OPENAI_BASE_URL
exec "$@"

"""Our engine under other people's boards: NBoard, GTP and UCI, on standard input and output."""

package main

import "context"

func build(ctx context.Context, args []string) error { return nil }

package testkit

// Must returns a value that a test cannot go on without; an error ends the test with a panic.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

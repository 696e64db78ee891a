package cluster

import (
	"context"
	"crypto/tls"
	"net"
)

// DialOn connects to rank 0 over a connection that exists.
func DialOn(ctx context.Context, conn net.Conn, token string) (Uplink, error) {
	config, err := secured(token, rankSide, serverSide)
	if err != nil {
		return nil, err
	}
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	return newLink[FromRank, ToRank](secure), nil
}

// Clock returns what is known of this rank's clock against rank 0's.
func (s *Session) Clock() ClockEstimate { return s.estimate() }

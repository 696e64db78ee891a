package client

import (
	"fmt"
	"time"

	"llmsweep/client/note"
)

const (
	// spareFiles are descriptors for the run's files, the connections of preflight and gauges, and the runtime.
	spareFiles = 64
	// holdTime is how long a closed connection keeps its port on the side that closed it (TIME_WAIT): 60 s on Linux
	// (TCP_TIMEWAIT_LEN), 30 s on macOS, up to 120 s on Windows.
	holdTime = time.Minute
	// reuseTime is holdTime where the kernel may reuse the port for the same server (tcp_tw_reuse).
	reuseTime = time.Second
)

// LocalLimits is what this machine allows. A number is 0 where it is unknown or unlimited.
type LocalLimits struct {
	Files int // descriptors that this process may have open; Go raises its soft limit to the hard one as it starts
	Ports int // local ports for connections to one server
	// A port in TIME_WAIT is soon used again, for servers elsewhere and on this machine.
	Reuse, ReuseLocal bool
}

// MachineLoad is what a measurement asks of the machine.
type MachineLoad struct {
	Streams int    // most at once; 0 where that is not known
	Files   int    // descriptors of each; 0 for 1. A server in the same process needs one of its own
	Ports   bool   // each takes a local port: TCP, not a Unix socket
	Flag    string // the flag to lower, named in errors
}

// Check returns an error, in one line with the remedy, where the load cannot fit.
func (s LocalLimits) Check(l MachineLoad) error {
	files := max(l.Files, 1)
	if need := l.Streams*files + spareFiles; s.Files > 0 && l.Streams > 0 && need > s.Files {
		return fmt.Errorf("%d streams at once need %d file descriptors, and this process may open %d: raise the hard limit "+
			"(ulimit -Hn %d as root; LimitNOFILE= of systemd, --ulimit nofile= of Docker), or lower %s to %d", l.Streams, need,
			s.Files, need, l.Flag, s.Most(files))
	}
	if l.Ports && s.Ports > 0 && l.Streams > s.Ports {
		return fmt.Errorf("%d streams at once need as many local ports, and this machine has %d for connections to "+
			"one server: widen the range "+
			"(sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"), or lower %s", l.Streams, s.Ports, l.Flag)
	}
	return nil
}

// Most returns how many streams fit into the descriptors, at files for each; 0 where there is no limit.
func (s LocalLimits) Most(files int) int {
	if s.Files == 0 {
		return 0
	}
	return max((s.Files-spareFiles)/files, 1)
}

// PortsInUse returns how many ports new connections at a rate take, closed ones included; local is for a server on this
// machine.
func (s LocalLimits) PortsInUse(perSecond float64, local bool) float64 {
	hold := holdTime
	if s.Reuse || local && s.ReuseLocal {
		hold = reuseTime
	}
	return perSecond * hold.Seconds()
}

// PortsExhausted reports whether the ports run out at a rate of new connections per second.
func (s LocalLimits) PortsExhausted(perSecond float64, local bool) bool {
	return s.Ports > 0 && s.PortsInUse(perSecond, local) > float64(s.Ports)
}

var notePorts = note.Kind{Code: "limits.ports", Args: []string{"rate", "held", "ports"}}

// PortWarning returns the note for a rate at which [LocalLimits.PortsExhausted] is true.
func (s LocalLimits) PortWarning(perSecond float64, local bool) note.Note {
	return notePorts.New(perSecond, s.PortsInUse(perSecond, local), s.Ports)
}

package cluster

// The plugins are google.golang.org/protobuf/cmd/protoc-gen-go and connectrpc.com/connect/cmd/protoc-gen-connect-go, in the versions of go.mod.
//go:generate sh -c "cd ../../.. && protoc --go_out=. --go_opt=module=llmsweep --connect-go_out=. --connect-go_opt=module=llmsweep,package_suffix=,simple=false sweep/cluster/message/message.proto"

package testkit

import "reflect"

// Fill sets every exported field below a pointer to something other than zero: to a known value where that can be
// assigned.
func Fill(pointer any, known ...any) { fill(reflect.ValueOf(pointer).Elem(), known) }

func fill(v reflect.Value, known []any) {
	for _, k := range known {
		if reflect.TypeOf(k).AssignableTo(v.Type()) {
			v.Set(reflect.ValueOf(k))
			return
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), known)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), known)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), known)
		}
	case reflect.Map:
		key, element := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, known)
		fill(element, known)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, element)
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1.5)
	default:
		if v.CanUint() {
			v.SetUint(3)
		} else {
			v.SetInt(3)
		}
	}
}
